// hello-agents/runs: stored runs from outside: list and look at them, cancel one, speak to one, fork one, play one again; and a run whose questions a
// function answers. For servers, operators and other processes.
export type { Answering } from "../interface/answered-run.ts"
export { runAnswered } from "../interface/answered-run.ts"
export type { ListedRun, RunFilter } from "../interface/list-runs.ts"
export { listRuns } from "../interface/list-runs.ts"
export type { Replayed } from "../interface/replay.ts"
export { replayRun } from "../interface/replay.ts"
export { cancel, fork, send } from "../interface/resume.ts"
export { waitingFor } from "../interface/result.ts"
export { foldEvents } from "../interface/stored-run.ts"
export { threadRuns } from "../interface/thread.ts"
