// A support desk for orders: looks up orders, the orders of a customer, and where a parcel is. Read only.
// The data is a file: ORDERS_FILE, or orders.json beside this one.
import { readFile } from "node:fs/promises"
import { agent, tool } from "hello-agents"
import { z } from "zod"

const Order = z.object({
  order_id: z.string(),
  customer_id: z.string(),
  customer: z.string(),
  status: z.enum(["awaiting payment", "paid", "partly shipped", "shipped", "delivered", "cancelled", "partly refunded", "refunded"]),
  placed_at: z.string(),
  paid_at: z.string().optional(),
  shipped_at: z.string().optional(),
  delivered_at: z.string().optional(),
  expected_at: z.string().optional(),
  cancelled_at: z.string().optional(),
  refunded_at: z.string().optional(),
  refunded_amount: z.number().optional(),
  reason: z.string().optional(),
  /** In yuan, like every price. */
  amount: z.number(),
  items: z.array(z.object({ name: z.string(), quantity: z.number(), price: z.number() })),
  shipments: z.array(
    z.object({
      carrier: z.string(),
      tracking_number: z.string(),
      shipped_at: z.string(),
      items: z.array(z.string()),
      events: z.array(z.object({ at: z.string(), place: z.string(), what: z.string() })),
    }),
  ),
})
type Order = z.infer<typeof Order>
const OrdersFile = z.object({ orders: z.array(Order) })

/** Read at every call, so a changed file counts at once and a broken one is a failed call instead of a stale answer. */
async function readOrders(): Promise<Order[]> {
  const file = process.env.ORDERS_FILE || new URL("./orders.json", import.meta.url)
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The order data cannot be read (${error.code ?? error.message}). Nothing is known about any order right now.`)
  })
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    throw new Error("The order data is not JSON. Nothing is known about any order right now.")
  }
  const checked = OrdersFile.safeParse(data)
  if (checked.success) return checked.data.orders
  const [issue] = checked.error.issues
  throw new Error(`The order data is malformed at ${issue?.path.join(".") || "the top"}: ${issue?.message}.`)
}

const getOrder = tool({
  name: "get_order",
  description: "Looks up one order by its number: status, times, items, amount in yuan, parcels. Use it before saying anything about an order.",
  input: z.object({ order_id: z.string().describe("order number such as A1001") }),
  hints: { readOnly: true, privateData: true },
  execute: async ({ order_id }) => {
    const order = (await readOrders()).find((one) => one.order_id === order_id.trim().toUpperCase())
    if (!order) return { found: false, message: `There is no order ${order_id}.` }
    const { shipments, ...rest } = order
    return { ...rest, shipments: shipments.map(({ carrier, tracking_number, items }) => ({ carrier, tracking_number, items })) }
  },
})

const listOrders = tool({
  name: "list_orders",
  description: "Lists all orders of one customer, newest first, with status and amount.",
  input: z.object({ customer_id: z.string().describe("customer number such as C001") }),
  hints: { readOnly: true, privateData: true },
  execute: async ({ customer_id }) => {
    const own = (await readOrders()).filter((one) => one.customer_id === customer_id.trim().toUpperCase())
    if (own.length === 0) return { found: false, message: `There are no orders of a customer ${customer_id}.` }
    const newestFirst = own.sort((a, b) => (a.placed_at < b.placed_at ? 1 : -1))
    return newestFirst.map(({ order_id, status, placed_at, amount }) => ({ order_id, status, placed_at, amount }))
  },
})

const trackParcel = tool({
  name: "track_parcel",
  description: "Tracks one parcel: every station it passed, the latest last. get_order gives the tracking number.",
  input: z.object({ tracking_number: z.string().describe("such as SF1390027714") }),
  hints: { readOnly: true },
  execute: async ({ tracking_number }) => {
    const parcels = (await readOrders()).flatMap((order) => order.shipments)
    const parcel = parcels.find((one) => one.tracking_number === tracking_number.trim().toUpperCase())
    return parcel ?? { found: false, message: `There is no parcel ${tracking_number}.` }
  },
})

export default agent({
  name: "order-support",
  instructions: `You answer questions about orders, in the language of the customer.
Look an order up before you say anything about it, and say only what the tools returned.
If a tool fails or finds nothing, say so plainly. If the order number is missing, ask for it.
If the customer changes their mind, the latest message counts.`,
  tools: [getOrder, listOrders, trackParcel],
})
