// The name of a run's folder: a run id with everything but a-z, 0-9, "-" and "_" percent-encoded, so that no id can leave the store's
// folder and two ids never share one, also where file names do not tell capitals from small letters.
// Called by file-store.ts.
import { HelloAgentsError } from "../errors.ts"

/** File systems allow 255 bytes in a name. */
const MAX_NAME = 200

/** Throws `input_invalid` for an id that cannot be a folder. */
export function folderName(runId: string): string {
  const name = encode(runId)
  if (name !== null && name.length > 0 && name.length <= MAX_NAME) return name
  const shown = JSON.stringify(runId.length > 60 ? `${runId.slice(0, 60)}…` : runId)
  throw new HelloAgentsError("input_invalid", `${shown} cannot be the id of a stored run.`, { hint: "Give an id of 1 to 60 letters, digits, - and _." })
}

/** The id behind a folder's name; null when the folder is not a run's. */
export function runIdOf(name: string): string | null {
  try {
    const runId = decodeURIComponent(name)
    return encode(runId) === name ? runId : null
  } catch {
    return null
  }
}

function encode(runId: string): string | null {
  try {
    return encodeURIComponent(runId).replace(/%[0-9A-F]{2}|[^a-z0-9_-]/g, (part) => (part.length === 3 ? part : `%${part.charCodeAt(0).toString(16).toUpperCase()}`))
  } catch {
    // Half a surrogate pair.
    return null
  }
}
