// The floor of the overhead bench: an agent loop written by hand, with nothing it can do without. It checks, retries and limits nothing.
// Same shape as ours.mjs; called by overhead-worker.mjs. raw-http.mjs is the same loop on Node's http.

/** `post(url, headers, body, onText)` resolves to the whole body, or to "" once it has given `onText` all of it. */
export function rawLoop(post) {
  let connection

  async function ask({ messages, tools, stream }, onDelta) {
    const { baseURL, apiKey, model } = connection
    const headers = { "content-type": "application/json", authorization: `Bearer ${apiKey}` }
    const body = JSON.stringify({ model, messages, tools, ...(stream && { stream: true }) })
    if (!stream) return JSON.parse(await post(`${baseURL}/chat/completions`, headers, body)).choices[0].message
    const reader = eventReader(onDelta)
    await post(`${baseURL}/chat/completions`, headers, body, reader.push)
    return { role: "assistant", content: reader.text() }
  }

  return {
    setup: async (given) => {
      connection = given
    },
    run: async ({ prompt, stream, onDelta }) => {
      const { system, tool } = connection
      const { execute, ...described } = tool
      const tools = [{ type: "function", function: described }]
      const messages = [
        { role: "system", content: system },
        { role: "user", content: prompt },
      ]
      for (;;) {
        const spoken = await ask({ messages, tools, stream }, onDelta)
        messages.push(spoken)
        if (!spoken.tool_calls) return { text: spoken.content }
        for (const { id, function: called } of spoken.tool_calls) messages.push({ role: "tool", tool_call_id: id, content: await execute(JSON.parse(called.arguments)) })
      }
    },
  }
}

function eventReader(onDelta) {
  let text = ""
  let rest = ""
  return {
    text: () => text,
    push(piece) {
      const lines = (rest + piece).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        if (!line.startsWith("data: ") || line === "data: [DONE]") continue
        const content = JSON.parse(line.slice(6)).choices[0]?.delta.content
        if (!content) continue
        text += content
        onDelta(content)
      }
    },
  }
}

async function postByFetch(url, headers, body, onText) {
  const response = await fetch(url, { method: "POST", headers, body })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  if (!onText) return response.text()
  const decoder = new TextDecoder()
  for await (const bytes of response.body) onText(decoder.decode(bytes, { stream: true }))
  return ""
}

export const { setup, run } = rawLoop(postByFetch)
