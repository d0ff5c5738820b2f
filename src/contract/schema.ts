// Schemas as they reach us: any Standard Schema that can also say its JSON Schema, or JSON Schema itself.
// The tool and agent constructors take them; infrastructure/json reads and checks them.

export type JsonSchema = { readonly [keyword: string]: unknown }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
/** What `validate` of a Standard Schema gives back, at once or as a promise. */
export type SchemaResult<Out> = { readonly value: Out; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/**
 * Standard Schema v1 (https://standardschema.dev) with its JSON Schema extension.
 * zod 4 and arktype 2 implement both; valibot through `@valibot/to-json-schema`.
 */
export interface Schema<In = unknown, Out = In> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown, ...rest: never[]) => unknown
    readonly jsonSchema: { readonly input: (options: never) => Record<string, unknown> }
    readonly types?: { readonly input: In; readonly output: Out } | undefined
  }
}

export type SchemaInput<S> = S extends Schema<infer I, infer _O> ? I : never
export type SchemaOutput<S> = S extends Schema<infer _I, infer O> ? O : never
export type MaybePromise<T> = T | Promise<T>
