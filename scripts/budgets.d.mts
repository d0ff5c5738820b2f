export interface Measured {
  scopes: { name: string; lines: number; limit: number; count: number; missing: number }[]
  adapters: { name: string; lines: number }[]
  files: { name: string; lines: number; limit: number }[]
  functions: { id: string; lines: number; parameters: number }[]
  rootNames: string[]
  runOptions: string[]
  errorClasses: string[]
  cycles: string[][]
}
export declare function measure(folder?: string): Measured
export declare function overBudget(measured: Measured): string[]
