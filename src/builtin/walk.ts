// Walks through a jail, breadth first and within limits. Used by the tools that list and search.
import type { Entry, Jail } from "./jail.ts"

const LIMITS = { entries: 5_000, depth: 12 }

/** Files and folders below `folder`, folders before what is in them. null: there is no such folder. Ends early at 5,000 entries. */
export async function walk(jail: Jail, folder: string, signal: AbortSignal): Promise<readonly Entry[] | null> {
  const first = await jail.list(folder)
  if (first === null) return null
  const found = [...first]
  const open = first.filter(isFolder).map(({ path }) => ({ path, depth: 1 }))
  for (let next = open.shift(); next !== undefined && found.length < LIMITS.entries; next = open.shift()) {
    signal.throwIfAborted()
    const { path, depth } = next
    // one folder that may not be read is no reason to show nothing
    const inside = (await jail.list(path).catch(() => null)) ?? []
    found.push(...inside)
    if (depth < LIMITS.depth) open.push(...inside.filter(isFolder).map((one) => ({ path: one.path, depth: depth + 1 })))
  }
  return found
}

function isFolder({ type }: Entry): boolean {
  return type === "folder"
}
