// Plays the scripted runs of the corpus (kind `loop`): the script becomes a scripted model, the tools become tools, the end is put into the corpus' words.
import { setTimeout } from "node:timers/promises"
import { agent, jsonSchema, stream, team, tool } from "hello-agents"
import { call, fail, say, scripted, together } from "hello-agents/testing"
import { fromWire, toWire } from "./wire.mjs"

const OUTCOMES = { final: "final", max_turns: "max_steps", repeated_call: "loop_detected", handoff_loop: "loop_detected", aborted: "aborted" }

/** `modelOf` makes the model of one run, with `requests` of its own; the default plays the script without a network. */
export async function loopRow(input, modelOf = (script, user) => scripted(steps(script, user))) {
  if (input.concurrentUsers === undefined) return play(input, input.user, modelOf)
  const runs = await Promise.all(input.concurrentUsers.map((user) => play({ ...input, script: input.scriptPerUser }, user, modelOf)))
  return { ...runs[0], perUser: runs.map((run, index) => ({ user: input.concurrentUsers[index], finalText: run.finalText, history: run.history })) }
}

async function play(input, user, modelOf) {
  const world = { runs: {}, now: 0, most: 0, aborter: new AbortController() }
  const tools = Object.entries(input.tools ?? {}).map(([name, behaviour]) => toolOf(name, behaviour, { world, input }))
  const model = await modelOf(input, user)
  const { maxSteps, maxToolCallsPerTurn, maxConcurrentTools } = input.limits
  const limits = { turns: maxSteps, callsPerReply: maxToolCallsPerTurn, callsAtOnce: maxConcurrentTools }
  const started = Date.now()
  if (input.abortAtMs !== undefined) void setTimeout(input.abortAtMs).then(() => world.aborter.abort())
  const live = stream(
    input.agents === undefined ? agent({ name: "corpus", instructions: "", tools, model }) : teamOf(input, model),
    input.resumeFrom ? fromWire(input.resumeFrom) : user,
    {
      limits,
      signal: world.aborter.signal,
      settings: { toolChoice: input.toolChoice },
    },
  )
  let deltas = ""
  const events = []
  for await (const event of live) {
    events.push(event)
    if (event.type === "text_delta") deltas += event.text
    if (event.type === "text_reset") deltas = ""
  }
  const result = await live.result
  const outcome = result.ok ? "final" : (OUTCOMES[result.stop.reason] ?? "error")
  return {
    outcome,
    finalText: result.answer,
    modelCalls: model.requests.length,
    toolRuns: world.runs,
    agentStarts: starts(events, input),
    history: toWire("", result.messages),
    maxConcurrent: world.most,
    elapsedMs: Date.now() - started,
    deltas,
  }
}

function teamOf({ agents, start }, model) {
  const members = Object.entries(agents).map(([name, { handoffs = [] }]) => [name, { instructions: `You are ${name}.`, handoffs }])
  return team({ model }, Object.fromEntries(members))[start]
}

function turnOf({ scriptByAgent, repeatLast }, request, spoke) {
  const name = /You are (\w+)\./.exec(request.instructions)[1]
  const nth = spoke[name] ?? 0
  spoke[name] = nth + 1
  const turn = scriptByAgent[name][nth] ?? (repeatLast ? scriptByAgent[name].at(-1) : { text: "" })
  const targets = turn.handoffs ?? (turn.handoff === undefined ? [] : [turn.handoff])
  return together(reply(turn), ...targets.map((target) => call(`transfer_to_${target}`, {})))
}

function starts(events, { start }) {
  const names = [start, ...events.flatMap((event) => (event.type === "turn_end" && event.handoff !== undefined ? [event.handoff] : []))]
  return Object.fromEntries(names.map((name) => [name, names.filter((other) => other === name).length]))
}

function toolOf(name, behaviour, { world, input }) {
  return tool({
    name,
    description: "",
    input: jsonSchema({ type: "object" }),
    hints: { readOnly: behaviour.sideEffect !== true },
    execute: async (args, { signal }) => {
      const nth = (world.runs[name] ?? 0) + 1
      world.runs[name] = nth
      world.most = Math.max(world.most, ++world.now)
      const total = Object.values(world.runs).reduce((sum, count) => sum + count, 0)
      if (behaviour.delayMs !== undefined) await Promise.race([setTimeout(behaviour.delayMs), new Promise((resolve) => signal.addEventListener("abort", resolve))])
      world.now--
      if (total === input.abortAfterToolRuns) world.aborter.abort()
      if (behaviour.hang) await new Promise(() => {})
      if (behaviour.throws !== undefined) throw new Error(behaviour.throws)
      return behaviour.echoArgs ? args : (behaviour.results?.[nth - 1] ?? behaviour.result)
    },
  })
}

function steps(input, user) {
  const spoke = {}
  if (input.scriptByAgent !== undefined) return Array.from({ length: 99 }, () => (request) => turnOf(input, request, spoke))
  if (input.scriptWhile !== undefined)
    return Array.from({ length: 99 }, () => (request) => reply(input.scriptWhile[request.settings.toolChoice === "required" ? "required" : "auto"], user))
  const script = input.script.map((turn) => reply(turn, user))
  return input.repeatLast ? [...script, ...Array.from({ length: 99 }, () => script.at(-1))] : script
}

function reply(turn, user) {
  const broken = turn.textThenError ?? turn.callsThenError
  if (broken !== undefined) return fail({ code: "network", message: broken.error, partial: broken.text })
  if (turn.callsFromUser !== undefined) return call(turn.callsFromUser, { q: user })
  if (turn.sayFromUser !== undefined) return say(turn.sayFromUser + user)
  const repeated =
    turn.callsRepeat === undefined ? [] : Array.from({ length: turn.callsRepeat.times }, (_, index) => call(turn.callsRepeat.name, { [turn.callsRepeat.argsKey]: index }))
  const calls = (turn.calls ?? []).map((made) => call(made.name, made.args, { id: made.id }))
  return together(say(turn.text ?? "", { finish: turn.finish }), ...calls, ...repeated)
}
