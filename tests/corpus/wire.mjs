// OpenAI wire messages to ours and back, field by field.

export function fromWire(messages) {
  return messages.flatMap((message) => {
    if (message.role === "user") return [{ role: "user", content: message.content }]
    if (message.role === "tool") return [{ role: "tool", callId: message.tool_call_id, content: message.content }]
    if (message.role !== "assistant") return []
    const calls = message.tool_calls?.map((call) => ({
      id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
      ...(call.extra_content !== undefined && { extra: { extra_content: call.extra_content } }),
    }))
    return [{ role: "assistant", content: message.content, ...(calls && { calls }), ...(message.reasoning_content !== undefined && { reasoning: message.reasoning_content }) }]
  })
}

export function toWire(system, messages) {
  const wire = messages.map((message) => {
    if (message.role === "user") return { role: "user", content: message.content }
    if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content }
    const calls = message.calls?.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments }, ...call.extra }))
    return { role: "assistant", content: message.content, ...(calls && { tool_calls: calls }), ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }) }
  })
  return system === "" ? wire : [{ role: "system", content: system }, ...wire]
}
