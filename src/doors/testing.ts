// The door `hello-agents/testing`: models for tests that need no key and no network.
export { cassette } from "../capability/models/cassette-file.ts"
export type { CassetteFile, CassetteOptions } from "../capability/models/cassette.ts"
export { record, replay } from "../capability/models/cassette.ts"
export type { ScriptedAnswer, ScriptedDetails, ScriptedFailure, ScriptedModel, ScriptedReply, ScriptedStep } from "../capability/models/scripted.ts"
export { call, fail, hang, say, scripted, think, together } from "../capability/models/scripted.ts"
