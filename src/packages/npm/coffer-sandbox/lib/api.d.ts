// The names of the types, all of them made of the OpenAPI documents of the program that is in the package.

import type { components as Api, paths as ApiPaths } from './openapi';
import type { components as Controls, paths as ControlPaths } from './controls';

declare global {
  // As @types/node and TypeScript's lib.esnext.disposable have it, for those who use neither.
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
/** What an endpoint of the format `legacy` is sent in its place. */
export type LegacyEvent = Schemas['LegacyEvent'];
/** Of which form the bodies of an endpoint are. */
export type Format = 'event' | 'legacy';
export type SandboxState = ControlSchemas['SandboxState'];
export type AccountSwitches = ControlSchemas['SandboxAccount'];
export type Endpoint = NonNullable<AccountSwitches['endpoints']>[number];
export type Fault = ControlSchemas['SandboxFault'];
export type Delivery = ControlSchemas['SandboxWebhooks']['data'][number];
export type Payment = ControlSchemas['SandboxPaymentSeen'];
export type SeePayment = ControlSchemas['SandboxPayment'];
export type ReplacePayment = Omit<ControlSchemas['SandboxPaymentState'], 'state'>;
export type RequestRefund = Omit<ControlSchemas['SandboxRefund'], 'invoice'>;
export type MoveTransfer = ControlSchemas['SandboxMoveTransfer'];
export type TransferAction = MoveTransfer['action'];
export type InboxBehaviour = ControlSchemas['SandboxInboxBehaviour'];
export type InboxEntry = ControlSchemas['SandboxInbox']['data'][number];

/** What an event of this type is about. */
export type ObjectOf<Type extends EventType> =
  Type extends `invoice.${string}` ? Invoice
    : Type extends `payout.${string}` ? Payout
      : Type extends `refund.${string}` ? Refund
        : Type extends `deposit.${string}` ? Deposit
          : Account;

/** An event whose type is known. */
export type EventOf<Type extends EventType> =
  Omit<Event, 'type' | 'data'> & { type: Type; data: { object: ObjectOf<Type> } };

/** What an endpoint of a format is sent. */
export type WebhookBody<Of extends Format, Type extends EventType = EventType> =
  Of extends 'legacy' ? LegacyEvent : EventOf<Type>;

/** A webhook in an inbox: as it came, and what is in it. */
export type InboxMessage<Type extends EventType = EventType, Of extends Format = 'event'> =
  InboxEntry & { event: WebhookBody<Of, Type> };

/** A webhook that a receiver took: its event, with the headers and the raw body as they came. */
export interface Webhook<Of extends Format = 'event'> {
  event: Of extends 'legacy' ? LegacyEvent : Event;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A webhook that a receiver refused, with 400. */
export interface RefusedWebhook {
  reason: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export type Mode = 'test' | 'live';
/** An object, or its id. */
export type Id = string | { id: string };

export interface Keys {
  secretTest: string;
  secretLive: string;
  publicTest: string;
  publicLive: string;
  legacy: string;
}

/** The line that the program writes when it is ready. */
export interface Ready {
  url: string;
  listen: string;
  file: string;
  keys: Keys;
  webhookSecret: string;
  legacySecret: string;
}

export interface StartOptions {
  /** The program; default: what COFFER_BINARY names, the package for this platform has, or the PATH has as `coffer`. */
  binary?: string;
  /** Further arguments of `coffer sandbox`: `['--file', 'shop.db']`. */
  args?: string[];
  /** Further variables of its environment. Those of this process whose name starts with COFFER_ are left out. */
  env?: Record<string, string | undefined>;
  /** How much it logs: `error`, `warn`, `info` (default), `debug`, `trace`. */
  log?: string;
  /** Is called with each line that it logs. */
  onLog?: (line: string) => void;
  /** How long its start may take, in milliseconds; default 30,000. */
  timeoutMs?: number;
}

export interface PayOptions {
  /** The coin, by its id, where the invoice has none picked; default: the first that takes the amount. */
  asset?: string;
  /** False leaves the payment seen; default true: it is confirmed. */
  confirm?: boolean;
  /** Its transaction; default: a new one. */
  txid?: string;
}

export type PayCase = 'exact' | 'under' | 'over' | 'late';

export interface ReceiverOptions<Of extends Format = Format> {
  /** The form of the bodies that it is sent; default `event`. */
  format?: Of;
  /** False: it is not made an endpoint of the account, for use as an invoice's `webhookUrl`; default true. */
  endpoint?: boolean;
  /** The types of event that it is sent; default: all. */
  types?: EventType[];
  /** The mode whose events it is sent; default: both. */
  mode?: Mode;
  /** The secret of its signatures; default: the sandbox's. */
  secret?: string;
}

export interface WaitOptions {
  /** How long to wait, in milliseconds; default 10,000. */
  timeoutMs?: number;
  /** Only what is about this object: an invoice, a payout, or its id. */
  about?: Id;
}

type Paths = ApiPaths & ControlPaths;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Operation<M extends Method, P extends keyof Paths> =
  Lowercase<M> extends keyof Paths[P] ? NonNullable<Paths[P][Lowercase<M>]> : never;
/** The paths that a method has. */
export type PathOf<M extends Method> = {
  [P in keyof Paths]: [Operation<M, P>] extends [never] ? never : P;
}[keyof Paths];

type Success = 200 | 201 | 202 | 204;
type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : null;
/** The JSON that a call answers; null where it answers none. */
export type AnswerOf<O> = O extends { responses: infer R } ? Json<R[keyof R & Success]> : never;

type BodyOf<O> =
  O extends { requestBody: { content: { 'application/json': infer B } } } ? { body: B }
    : O extends { requestBody?: { content: { 'application/json': infer B } } } ? { body?: B }
      : { body?: undefined };
type PathOptions<O> = O extends { parameters: { path: infer P } } ? { params: P } : { params?: undefined };
type QueryOptions<O> = O extends { parameters: { query?: infer Q } } ? { query?: Q } : { query?: undefined };

export interface CallOptions {
  /** The mode whose secret key is sent; default `test`. Calls of `/sandbox` are sent no key. */
  mode?: Mode;
  /** The key to send, in place of the mode's; null: none. */
  key?: string | null;
  /** Further headers. */
  headers?: Record<string, string>;
  /** How long the answer may take, in milliseconds; default 60,000. */
  timeoutMs?: number;
}

// As one step for each operation, or TypeScript multiplies the bodies of all with the paths of all.
export type RequestOptions<O> =
  O extends unknown ? CallOptions & BodyOf<O> & PathOptions<O> & QueryOptions<O> : never;
type Optional<Options> = {} extends Options ? [options?: Options] : [options: Options];

/** Calls any operation of the service or of the sandbox's controls, by its method and its path in the document. */
export type Request = <M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  ...options: Optional<RequestOptions<Operation<M, P>>>
) => Promise<AnswerOf<Operation<M, P>>>;
