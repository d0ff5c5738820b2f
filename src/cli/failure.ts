// A mistake that ends a command before anything ran: one clear line, what to do, exit code 2. Thrown by commands, shown by main.ts.

export class UsageError extends Error {
  override readonly name = "UsageError"
  readonly hint: string

  constructor(message: string, hint = "") {
    super(message)
    this.hint = hint
  }
}
