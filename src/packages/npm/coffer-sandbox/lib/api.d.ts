// Names of the types. All of them are derived from the OpenAPI documents of the packaged program.

import type { Event, EventOf, EventType, Id, LegacyEvent } from 'coffer-client/api';
import type { components as Controls, paths as ControlPaths } from './controls';
import type { paths as Paths } from './openapi';

export type {
  Account, Deposit, Event, EventOf, EventType, Id, Invoice, LegacyEvent, ObjectOf, Payout, Refund,
} from 'coffer-client/api';

declare global {
  // Same as in @types/node and TypeScript's lib.esnext.disposable, for projects without them.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

type ControlSchemas = Controls['schemas'];

/** The format of an endpoint's webhook bodies. */
export type Format = 'event' | 'legacy';
export type SandboxState = ControlSchemas['SandboxState'];
export type AccountSwitches = ControlSchemas['SandboxAccount'];
export type Endpoint = NonNullable<AccountSwitches['endpoints']>[number];
export type Fault = ControlSchemas['SandboxFault'];
export type Delivery = ControlSchemas['SandboxWebhooks']['data'][number];
export type Payment = ControlSchemas['SandboxPaymentSeen'];
export type SeePayment = ControlSchemas['SandboxPayment'];
export type MovePayment = ControlSchemas['SandboxPaymentState'];
export type MoveClock = ControlSchemas['SandboxClock'];
export type ReplacePayment = Omit<ControlSchemas['SandboxPaymentState'], 'state' | 'confirmations'>;
export type RequestRefund = Omit<ControlSchemas['SandboxRefund'], 'invoice'>;
export type MoveTransfer = ControlSchemas['SandboxMoveTransfer'];
export type TransferAction = MoveTransfer['action'];
/** The response of a receiver or an inbox from now on: `status`, `delayMs`, `times` (default: all). */
export type Behaviour = ControlSchemas['SandboxInboxBehaviour'];

/** The webhook body of a format. */
export type WebhookBody<Of extends Format, Type extends EventType = EventType> =
  Of extends 'legacy' ? LegacyEvent : EventOf<Type>;

/** A webhook with a valid signature: its event, with the headers and the raw body as received. */
export interface Webhook<Of extends Format = 'event', Type extends EventType = EventType> {
  event: WebhookBody<Of, Type>;
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
  /** The log level: `error`, `warn`, `info` (default), `debug` (a line for each request) or `trace`. */
  log?: string;
  /** Called with each log line. */
  onLog?: (line: string) => void;
  /** The start timeout, in seconds; default 30. */
  timeout?: number;
  /**
   * The context of a test of node:test or vitest. The sandbox stops at the end of the test, and its log is shown if the
   * test fails. Its default log level is then `debug`.
   */
  test?: TestContext;
}

/** What is used of the context that node:test or vitest gives to a test, or to a hook beforeEach. */
export type TestContext =
  | { after(hook: () => Promise<void>): void; diagnostic(message: string): void; readonly passed?: boolean }
  | { onTestFailed(hook: () => Promise<void>): void; onTestFinished(hook: () => Promise<void>): void };

export interface PayOptions {
  /** The asset id of the coin, if the invoice has none. Default: the first coin that accepts the amount. */
  asset?: string;
  /** If false, the payment is only seen. Default true: it is confirmed. */
  confirm?: boolean;
  /** The transaction id; default: a new one. */
  txid?: string;
}

export type PayCase = 'exact' | 'under' | 'over' | 'late';

export interface InboxOptions<Of extends Format = Format> {
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

export interface ReceiverOptions<Of extends Format = Format> extends InboxOptions<Of> {
  /** Called with each webhook before it is answered. An error is answered with 500, and thrown by `next`. */
  handler?: (webhook: Webhook<Of>) => unknown;
}

export interface DeliveredOptions {
  /** If true, failed deliveries are thrown as a SandboxError. Default false: they are returned. */
  check?: boolean;
}

export interface WaitOptions {
  /** The timeout, in seconds; default 10. */
  timeout?: number;
  /** Only events about this object: an invoice, a payout, or its id. */
  about?: Id;
}

/** The paths of the service and of the sandbox's controls. */
export type AllPaths = Paths & ControlPaths;
