// A run whose questions a function answers: approvals, unfinished calls and input, as often as it asks. The run is stored all the same, so that
// a question nobody answers in this process can be answered in another.
import type { Agent, End } from "../contract/agent.ts"
import type { Answer } from "../contract/answer.ts"
import type { Input } from "../contract/message.ts"
import type { Store } from "../contract/ports.ts"
import type { Rest, RunOptions, RunResult, Waiting } from "../contract/run.ts"
import type { MaybePromise } from "../contract/schema.ts"
import { resume } from "./resume.ts"
import { run } from "./runner.ts"

export type Answering = (question: Waiting) => MaybePromise<Answer | null>

/** As `run`; each question goes to `answer`. null leaves it open: the run is given back waiting when nothing else can be done. */
export async function runAnswered<C, E extends End, I>(
  agent: Agent<C, E, I>,
  input: Input,
  options: RunOptions<I> & { store: Store; answer: Answering },
): Promise<RunResult<C, E>> {
  const { answer, ...rest } = options
  // the options are those of `run`, which asks for a context only where the agent needs one
  let result = await run(agent, input, ...([rest] as unknown as Rest<I>))
  while (result.status === "waiting") {
    const answers = (await Promise.all(result.waiting.map((question) => answer(question)))).filter((given) => given !== null)
    if (answers.length === 0) return result
    const { signal, readers, model, tools, settings } = options
    result = await resume(agent, result.runId, { store: options.store, answers, signal, readers, model, tools, settings })
  }
  return result
}
