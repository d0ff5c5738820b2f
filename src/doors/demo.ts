// The door `hello-agents/demo`: a model for trying things out that needs no key. It is not a language model and says so.
export { demoModel } from "../capability/models/demo/demo-model.ts"
