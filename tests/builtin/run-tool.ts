// Runs one tool as an agent would: the call goes through argument reading, schema check, execution and result text.
import type { Tool } from "hello-agents"
import { agent, run } from "hello-agents"
import { call, say, scripted } from "hello-agents/testing"

/** What the model is told about the call. */
export async function runTool(tool: Tool, args: object): Promise<string> {
  const result = await run(agent({ name: "tester", instructions: "", tools: [tool] }), "Go.", { model: scripted([call(tool.name, args), say("Done.")]) })
  const told = result.messages.find((message) => message.role === "tool")
  if (told === undefined) throw new Error(`the run ended with ${result.status} before the tool was called`)
  return told.content
}
