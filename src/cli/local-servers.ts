// Model servers that run on this machine, by the ports they usually have. Called by `doctor`, which offers them; nothing uses one unasked.
import { askModels } from "./ask-models.ts"

export interface LocalServer {
  /** The program that usually has this port. */
  readonly name: string
  readonly baseUrl: string
  readonly models: readonly string[]
}

const USUAL: readonly (readonly [name: string, port: number])[] = [
  ["Ollama", 11434],
  ["LM Studio", 1234],
  ["llama.cpp", 8080],
  ["vLLM", 8000],
]
/** Milliseconds. A server on this machine answers at once, or is no model server. */
const TIMEOUT_MS = 700

/** Those that answer with a list of models; no key is sent. */
export async function findLocalServers(ports: typeof USUAL = USUAL): Promise<readonly LocalServer[]> {
  const found = await Promise.all(
    ports.map(async ([name, port]) => {
      const baseUrl = `http://localhost:${port}/v1`
      const answer = await askModels({ baseUrl, timeoutMs: TIMEOUT_MS })
      return answer.type === "models" ? [{ name, baseUrl, models: answer.names }] : []
    }),
  )
  return found.flat()
}
