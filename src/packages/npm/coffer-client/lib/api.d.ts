// Names of the types. All of them are derived from the OpenAPI document of the release.

import type { components, paths } from './openapi';

type Schemas = components['schemas'];
/** The paths of the merchant interface. */
export type Paths = paths;

export type Invoice = Schemas['Invoice'];
export type CreateInvoice = Schemas['CreateInvoice'];
export type CreatedInvoice = Schemas['CreatedInvoice'];
export type SelectCoin = Schemas['SelectCoin'];
export type SimulatePayment = Schemas['SimulatePayment'];
export type Currency = Schemas['Currency'];
export type Merchant = Schemas['Merchant'];
export type Balance = Schemas['Balance'];
export type LedgerEntry = Schemas['LedgerEntry'];
export type CustomerAddresses = Schemas['CustomerAddresses'];
export type SimulateDeposit = Schemas['SimulateDeposit'];
export type Deposit = Schemas['Deposit'];
export type CreatePayout = Schemas['CreatePayout'];
export type Payout = Schemas['Payout'];
export type Refund = Schemas['Refund'];
export type Account = Schemas['Account'];
export type Event = Schemas['Event'];
export type EventType = Event['type'];
/** The body that an endpoint of format `legacy` receives. */
export type LegacyEvent = Schemas['LegacyEvent'];

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

/** Headers of a response. */
export interface AnswerHeaders {
  get(name: string): string | null;
}
/** Headers of a request: those of `fetch`, or a mapping such as Node's, with names in any case. */
export type RequestHeaders = { entries(): Iterable<[string, string]> } | Record<string, string | string[] | undefined>;

/** An object or its id. */
export type Id = string | { id: string };

/** The filters of a list, and `limit`, the items of a page. */
export type FiltersOf<P extends keyof paths> =
  paths[P] extends { get: { parameters: { query?: infer Q } } } ? NonNullable<Q> : never;

export interface CallOptions {
  /** 1 to 200 printable ASCII characters; default: a new UUID. For POST. */
  idempotencyKey?: string;
  /** The duration of an attempt, in seconds; default: that of the client. */
  timeout?: number;
  /** The maximum number of attempts; default: that of the client. */
  attempts?: number;
}

/** A request of any form. */
export interface Sent extends CallOptions {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Operation<Of, M extends Method, P extends keyof Of> =
  Lowercase<M> extends keyof Of[P] ? NonNullable<Of[P][Lowercase<M>]> : never;
/** The paths that support a method. */
export type PathOf<Of, M extends Method> = {
  [P in keyof Of]: [Operation<Of, M, P>] extends [never] ? never : P;
}[keyof Of] & string;

type Success = 200 | 201 | 202 | 204;
type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : null;
/** The JSON of a successful response, or null if it has none. */
export type AnswerOf<O> = O extends { responses: infer R } ? Json<R[keyof R & Success]> : never;

type BodyOf<O> =
  O extends { requestBody: { content: { 'application/json': infer B } } } ? { body: B }
    : O extends { requestBody?: { content: { 'application/json': infer B } } } ? { body?: B }
      : { body?: undefined };
type ParamsOf<O> =
  O extends { parameters: { path: infer P } } ? { params: { [Name in keyof P]: Id } } : { params?: undefined };
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? { query?: Q } : { query?: undefined };

// One type for each operation. Otherwise TypeScript combines all bodies with all paths.
export type RequestOptions<O> = O extends unknown ? CallOptions & BodyOf<O> & ParamsOf<O> & QueryOf<O> : never;
type Optional<Options> = {} extends Options ? [options?: Options] : [options: Options];

/** Calls any operation by its method and its path in the document. */
export type Request<Of> = <M extends Method, P extends PathOf<Of, M>>(
  method: M,
  path: P,
  ...options: Optional<RequestOptions<Operation<Of, M, P>>>
) => Promise<AnswerOf<Operation<Of, M, P>>>;
