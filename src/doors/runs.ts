// hello-agents/runs: stored runs from outside: cancel one, speak to one, fork one. For servers, operators and other processes.
export { cancel, fork, send } from "../interface/resume.ts"
export { foldEvents } from "../interface/stored-run.ts"
