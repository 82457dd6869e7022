// Names of the types. All of them are derived from the OpenAPI documents of the packaged program.

import type { components as Api, paths as ApiPaths } from './openapi';
import type { components as Controls, paths as ControlPaths } from './controls';

declare global {
  // Same as in @types/node and TypeScript's lib.esnext.disposable, for projects without them.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

type Schemas = Api['schemas'];
type ControlSchemas = Controls['schemas'];

export type Invoice = Schemas['Invoice'];
export type CreateInvoice = Schemas['CreateInvoice'];
export type CreatedInvoice = Schemas['CreatedInvoice'];
export type Payout = Schemas['Payout'];
export type Refund = Schemas['Refund'];
export type Deposit = Schemas['Deposit'];
export type Account = Schemas['Account'];
export type Event = Schemas['Event'];
export type EventType = Event['type'];
/** The body that an endpoint of format `legacy` receives. */
export type LegacyEvent = Schemas['LegacyEvent'];
/** The format of an endpoint's webhook bodies. */
export type Format = 'event' | 'legacy';
export type SandboxState = ControlSchemas['SandboxState'];
export type AccountSwitches = ControlSchemas['SandboxAccount'];
export type Endpoint = NonNullable<AccountSwitches['endpoints']>[number];
export type Fault = ControlSchemas['SandboxFault'];
export type Delivery = ControlSchemas['SandboxWebhooks']['data'][number];
export type Payment = ControlSchemas['SandboxPaymentSeen'];
export type SeePayment = ControlSchemas['SandboxPayment'];
export type ReplacePayment = Omit<ControlSchemas['SandboxPaymentState'], 'state' | 'confirmations'>;
export type RequestRefund = Omit<ControlSchemas['SandboxRefund'], 'invoice'>;
export type MoveTransfer = ControlSchemas['SandboxMoveTransfer'];
export type TransferAction = MoveTransfer['action'];
export type InboxBehaviour = ControlSchemas['SandboxInboxBehaviour'];
export type InboxEntry = ControlSchemas['SandboxInbox']['data'][number];

/** The object type of an event type. */
export type ObjectOf<Type extends EventType> =
  Type extends `invoice.${string}` ? Invoice
    : Type extends `payout.${string}` ? Payout
      : Type extends `refund.${string}` ? Refund
        : Type extends `deposit.${string}` ? Deposit
          : Account;

/** An event with a known type. */
export type EventOf<Type extends EventType> =
  Omit<Event, 'type' | 'data'> & { type: Type; data: { object: ObjectOf<Type> } };

/** The webhook body of a format. */
export type WebhookBody<Of extends Format, Type extends EventType = EventType> =
  Of extends 'legacy' ? LegacyEvent : EventOf<Type>;

/** A webhook in an inbox, with its parsed body. */
export type InboxMessage<Type extends EventType = EventType, Of extends Format = 'event'> =
  InboxEntry & { event: WebhookBody<Of, Type> };

/** A webhook accepted by a receiver: its event, with the headers and the raw body as received. */
export interface Webhook<Of extends Format = 'event'> {
  event: Of extends 'legacy' ? LegacyEvent : Event;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A webhook that a receiver refused with status 400. */
export interface RefusedWebhook {
  reason: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export type Mode = 'test' | 'live';
/** An object or its id. */
export type Id = string | { id: string };

export interface Keys {
  secretTest: string;
  secretLive: string;
  publicTest: string;
  publicLive: string;
  legacy: string;
}

/** The line that the program prints when it is ready. */
export interface Ready {
  url: string;
  listen: string;
  file: string;
  keys: Keys;
  webhookSecret: string;
  legacySecret: string;
}

export interface StartOptions {
  /** The program. Default: COFFER_BINARY, else the package for this platform, else `coffer` in PATH. */
  binary?: string;
  /** Further arguments of `coffer sandbox`: `['--file', 'shop.db']`. */
  args?: string[];
  /** Further environment variables. Variables of this process whose names start with COFFER_ are not passed on. */
  env?: Record<string, string | undefined>;
  /** The log level: `error`, `warn`, `info` (default), `debug` or `trace`. */
  log?: string;
  /** Called with each log line. */
  onLog?: (line: string) => void;
  /** The start timeout, in milliseconds; default 30,000. */
  timeoutMs?: number;
}

export interface PayOptions {
  /** The asset id of the coin, if the invoice has none. Default: the first coin that accepts the amount. */
  asset?: string;
  /** If false, the payment is only seen. Default true: it is confirmed. */
  confirm?: boolean;
  /** The transaction id; default: a new one. */
  txid?: string;
}

export type PayCase = 'exact' | 'under' | 'over' | 'late';

export interface ReceiverOptions<Of extends Format = Format> {
  /** The format of the webhook bodies; default `event`. */
  format?: Of;
  /** If false, it is not added to the account's endpoints and can serve as an invoice's `webhookUrl`. Default true. */
  endpoint?: boolean;
  /** The event types to receive; default: all. */
  types?: EventType[];
  /** The mode whose events to receive; default: both. */
  mode?: Mode;
  /** The signing secret; default: the sandbox's. */
  secret?: string;
}

export interface WaitOptions {
  /** The timeout, in milliseconds; default 10,000. */
  timeoutMs?: number;
  /** Only events about this object: an invoice, a payout, or its id. */
  about?: Id;
}

type Paths = ApiPaths & ControlPaths;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Operation<M extends Method, P extends keyof Paths> =
  Lowercase<M> extends keyof Paths[P] ? NonNullable<Paths[P][Lowercase<M>]> : never;
/** The paths that support a method. */
export type PathOf<M extends Method> = {
  [P in keyof Paths]: [Operation<M, P>] extends [never] ? never : P;
}[keyof Paths];

type Success = 200 | 201 | 202 | 204;
type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : null;
/** The JSON of a successful response, or null if it has none. */
export type AnswerOf<O> = O extends { responses: infer R } ? Json<R[keyof R & Success]> : never;

type BodyOf<O> =
  O extends { requestBody: { content: { 'application/json': infer B } } } ? { body: B }
    : O extends { requestBody?: { content: { 'application/json': infer B } } } ? { body?: B }
      : { body?: undefined };
type PathOptions<O> = O extends { parameters: { path: infer P } } ? { params: P } : { params?: undefined };
type QueryOptions<O> = O extends { parameters: { query?: infer Q } } ? { query?: Q } : { query?: undefined };

export interface CallOptions {
  /** The mode whose secret key is sent; default `test`. Requests to `/sandbox` send no key. */
  mode?: Mode;
  /** The key to send instead of the mode's key; null: none. */
  key?: string | null;
  /** Further headers. */
  headers?: Record<string, string>;
  /** The timeout of the response, in milliseconds; default 60,000. */
  timeoutMs?: number;
}

// One type for each operation. Otherwise TypeScript combines all bodies with all paths.
export type RequestOptions<O> =
  O extends unknown ? CallOptions & BodyOf<O> & PathOptions<O> & QueryOptions<O> : never;
type Optional<Options> = {} extends Options ? [options?: Options] : [options: Options];

/** Calls any operation of the service or of the sandbox's controls, by its method and its path in the document. */
export type Request = <M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  ...options: Optional<RequestOptions<Operation<M, P>>>
) => Promise<AnswerOf<Operation<M, P>>>;
