// Takes secrets, file paths and stack traces out of text before a model, a log or a person sees it.
// Called on tool errors by tools/execute.ts and by everything that reads a run's log back.

/** Prefixes of keys that vendors give out; the rest of the word is the secret. */
const KEY_WORDS = /\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|AKIA|ASIA|AIza|hf|nvapi|ya29|eyJ)[-_.]?[A-Za-z0-9][\w.-]{10,}/g
const ASSIGNED = /\b(api[-_ ]?key|access[-_ ]?key|secret|token|password|passwd|authorization)(["']?\s{0,8}[:=]\s{0,8}["']?(?:bearer |basic )?)(?!\[)[\w.+/=-]{6,}/gi
const BEARER = /\b(bearer|basic)( )(?=[\w.+/=-]*\d)[\w.+/=-]{12,}/gi
const URL_PASSWORD = /(\b[a-z][\w+.-]{1,20}:\/\/[^\s:/@]{1,80}:)[^\s@/]{1,200}@/gi
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,8000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g
const STACK_LINE = /\n\s+at [^\n]{0,400}/g
const FILE_PATH = /(?<![\w/:.])(?:file:\/\/)?(?:\/(?:[\w.@+-]{1,80}\/){1,30}[\w.@+-]{1,80}|[A-Za-z]:\\(?:[\w.@+ -]{1,80}\\){0,30}[\w.@+-]{1,80})/g

/** Replaces secrets by `[hidden]`. Everything else stays as it is. */
export function redactSecrets(text: string): string {
  return text.replace(PRIVATE_KEY, "[hidden]").replace(URL_PASSWORD, "$1[hidden]@").replace(ASSIGNED, "$1$2[hidden]").replace(BEARER, "$1$2[hidden]").replace(KEY_WORDS, "[hidden]")
}

/** What a model may be told of an error: no secret, no stack, no path of this machine; at most `maxChars` characters. */
export function redactError(text: string, maxChars = 600): string {
  const clean = redactSecrets(text.slice(0, maxChars * 4))
    .replace(STACK_LINE, "")
    .replace(FILE_PATH, "[path]")
    .trim()
  return clean.length > maxChars ? `${clean.slice(0, maxChars)}…` : clean
}
