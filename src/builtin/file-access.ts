// What the three file tools share. Made by file-tools.ts.
import type { Jail } from "./jail.ts"

export interface FileAccess {
  readonly jail: Jail
  readonly about: string
  readonly maxChars: number
  readonly maxBytes: number
  readonly fallbackEncoding: string | null
}
