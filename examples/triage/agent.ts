// A desk of three agents: triage hands over to billing or support. The order number stands in the context that all three share.
// README.md names this file; tests/examples/triage.test.ts runs it.
import { team, tool } from "hello-agents"
import { z } from "zod"

const Desk = z.object({ order: z.string().optional() })

const noteOrder = tool({
  name: "note_order",
  description: "Notes the order number for everybody at the desk. Use it as soon as the customer names one, or names another.",
  context: Desk,
  input: z.object({ order: z.string().describe("order number such as A1001") }),
  execute: ({ order }, { result }) => {
    const noted = order.trim().toUpperCase()
    return result(`Noted: ${noted}.`, { context: { order: noted } })
  },
})

const refundOrder = tool({
  name: "refund_order",
  description: "Refunds the noted order.",
  context: Desk,
  approval: true,
  input: z.object({}),
  execute: (_, { context }) => (context.order === undefined ? "No order is noted; ask for its number." : `Order ${context.order} is refunded.`),
})

const manners = (order: string | undefined): string =>
  `Answer in the language of the customer. The latest message counts if they change their mind. ${order === undefined ? "No order is noted yet." : `The order is ${order}.`}`

const desk = team(
  { context: Desk },
  {
    triage: {
      instructions: ({ order }) => `You find out what the customer wants, note the order number, and hand over. You promise nothing. ${manners(order)}`,
      handoffDescription: "everything else",
      handoffs: ["billing", "support"],
      tools: [noteOrder],
    },
    billing: {
      instructions: ({ order }) => `You answer questions about payments and refund orders. Hand over what is about parcels or defects. ${manners(order)}`,
      handoffDescription: "payments, invoices, refunds",
      handoffs: ["support"],
      tools: [noteOrder, refundOrder],
    },
    support: {
      instructions: ({ order }) => `You help with parcels and defects. Hand over what is about money. ${manners(order)}`,
      handoffDescription: "parcels, defects, replacements",
      handoffs: ["billing"],
      tools: [noteOrder],
    },
  },
)

export default desk.triage
