// Where the optional parts and weights of local models are kept, outside every project. Called by llama.mjs and model.mjs.
import { homedir } from "node:os"
import { join } from "node:path"

/** `HELLO_AGENTS_CACHE`, or `~/.cache/hello-agents`. */
export const cacheFolder = () => process.env.HELLO_AGENTS_CACHE ?? join(homedir(), ".cache", "hello-agents")
