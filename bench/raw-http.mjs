// The floor again, on Node's http with a connection kept alive: what `fetch` itself costs is the difference to raw.mjs.
import { Agent, request } from "node:http"
import { rawLoop } from "./raw.mjs"

const agent = new Agent({ keepAlive: true })

function postByHttp(url, headers, body, onText) {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: "POST", agent, headers: { ...headers, "content-length": Buffer.byteLength(body) } }, (response) => {
      const reads = onText !== undefined && response.statusCode === 200
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (piece) => {
        if (reads) onText(piece)
        else text += piece
      })
      response.on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`))))
      response.on("error", reject)
    })
    asked.on("error", reject)
    asked.end(body)
  })
}

export const { setup, run } = rawLoop(postByHttp)
