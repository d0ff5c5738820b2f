// A first agent: one tool and its instructions. README.md shows this very file.
import { agent, tool } from "hello-agents"
import { z } from "zod"

const stock: Readonly<Record<string, number>> = { "desk lamp": 4, "led bulb": 0 }

const getStock = tool({
  name: "get_stock",
  description: "Tells how many pieces of an article are in stock.",
  input: z.object({ article: z.string().describe('name of the article, such as "desk lamp"') }),
  hints: { readOnly: true },
  execute: ({ article }) => stock[article.toLowerCase()] ?? `There is no article "${article}".`,
})

export default agent({
  name: "stock",
  instructions: "You answer questions about the stock. Look an article up before you say anything about it.",
  tools: [getStock],
})
