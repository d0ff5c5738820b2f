// A short fingerprint of text, for "the same as before?" and "which version was this?". Not for security.
// Used by the repeat guard, run hashes and cassettes.

/** 64 bits as 16 hex digits: two independent multiply-xor passes (FNV-1a and a Murmur-style mix) over UTF-16 code units. */
export function digest(text: string): string {
  let low = 0x811c9dc5
  let high = 0x9e3779b9 ^ text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x85ebca6b)
    high = (high << 13) | (high >>> 19)
  }
  return hex(low ^ (high >>> 15)) + hex(high ^ (low >>> 13))
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0")
}
