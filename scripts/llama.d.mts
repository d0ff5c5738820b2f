interface Manifest {
  dependencies: Record<string, string>
}
export declare function bindingFor(platform: string, architecture: string): string
export declare function partFor(
  platform: string,
  architecture: string,
): { manifest: Manifest; lock: { packages: Record<string, { version?: string; optional?: boolean; dependencies?: Record<string, string> }> } }
export declare function installLlama(folder?: string): boolean
