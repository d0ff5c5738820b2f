// Makes plain data unchangeable. The loop freezes events at commit, so that no reader, tool or rule can change what was written.

/** Freezes plain objects and arrays to the bottom; stops at what is frozen already. Returns its argument. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const key in value) {
    const inner = value[key]
    if (typeof inner === "object" && inner !== null) deepFreeze(inner)
  }
  return value
}
