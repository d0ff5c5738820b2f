import { fileURLToPath } from "node:url"
import type { ViteUserConfig } from "vitest/config"
import { defineConfig } from "vitest/config"

const source = fileURLToPath(new URL("./src/", import.meta.url))

/** Tests speak to the package by its public names; here they mean the sources. */
export const alias: { find: RegExp; replacement: string }[] = [
  { find: /^hello-agents$/, replacement: `${source}index.ts` },
  { find: /^hello-agents\/([a-z0-9-]+)$/, replacement: `${source}doors/$1.ts` },
]

const config: ViteUserConfig = defineConfig({
  resolve: { alias },
  test: {
    include: ["tests/**/*.test.ts"],
    exclude: ["tests/fixtures/**", "tests/slow/**"],
    // Files of one worker share their modules: ten times faster, and it finds module-level state that runs share.
    isolate: false,
    pool: "forks",
    maxWorkers: 2,
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    testTimeout: 10_000,
  },
})

export default config
