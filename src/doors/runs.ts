// hello-agents/runs: stored runs from outside: look at one, cancel one, speak to one, fork one; the runs of a thread. For servers, operators and other processes.
export { cancel, fork, send } from "../interface/resume.ts"
export { waitingFor } from "../interface/result.ts"
export { foldEvents } from "../interface/stored-run.ts"
export { threadRuns } from "../interface/thread.ts"
