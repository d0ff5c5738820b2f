import { expect, it } from "vitest"
import { memoryStore } from "../../src/doors/stores.ts"
import { events } from "./sample-events.ts"
import { storeContract } from "./store-contract.ts"

storeContract("memory", () => {
  const store = memoryStore()
  return { store, other: store }
})

it("forgets a removed run", async () => {
  const store = memoryStore()
  await store.append("r", 0, events(1, 2), { durable: false })
  await store.remove("r")
  expect(await store.read("r")).toEqual([])
  expect(await store.list()).toEqual([])
})
