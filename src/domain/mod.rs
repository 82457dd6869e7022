//! Domain rules for money, invoices, payments, chains and events.
//!
//! Invariant: all code here is pure: no I/O, no clock, no async, no logging. A result depends on its arguments alone,
//! except random ids.

pub mod account;
pub mod address;
pub mod apikey;
pub mod asset;
pub mod audited_action;
pub mod certificate;
pub mod chain;
pub mod claim;
pub mod color;
pub mod confirmations;
pub mod customer;
pub mod deposit;
pub mod email;
pub mod event;
pub mod export;
pub mod fields;
pub mod figures;
pub mod following;
pub mod history;
pub mod id;
pub mod invoice;
pub mod json;
pub mod language;
pub mod ledger;
pub mod link;
pub mod mail;
pub mod money;
pub mod network_fee;
pub mod observation;
pub mod observation_owner;
pub mod payable_address;
pub mod payment;
pub mod payment_uri;
pub mod picture;
pub mod progress;
pub mod published_keys;
pub mod qr;
pub mod quote;
pub mod rate;
pub mod refusal;
pub mod requests;
pub mod resource_change;
pub mod retry;
pub mod sales;
pub mod scanned;
pub mod second_factor;
pub mod server;
pub mod set_aside;
pub mod signature;
pub mod stale_head;
pub mod status;
pub mod text_enum;
pub mod time;
pub mod timeline;
pub mod token;
pub mod transfer;
pub mod unmatched;
pub mod url;
pub mod user;
pub mod wallet;

// Types of the modules, for all other modules of the crate.
pub use account::{Account, AccountStatus, Branding, WebhookEndpoint};
pub use address::Network;
pub use apikey::KeyClass;
pub use asset::{Asset, AssetKind, Mode};
pub use audited_action::AuditedAction;
pub use certificate::{CertificateStatus, Validity};
pub use chain::{ChainFamily, Depth};
pub use claim::{Claim, ClaimOutcome};
pub use confirmations::{ConfirmationTier, ConfirmationTiers, WaitRange};
pub use customer::Customer;
pub use deposit::{Deposit, DepositStatus};
pub use event::{DeliveryState, EventType, WebhookFormat};
pub use export::{Cell, ExportKind};
pub use figures::{FailingEndpoint, FileCounts};
pub use following::{
    BalanceBatch, BalanceChange, BalanceCheck, ChainPosition, ChainState, ChainStep,
    ChainStepOutcome, ClaimCheck, ForwardStep, OpenObservation, PolledAddress, ReplacedTransaction,
    Rescan, RescanStep, SentTransaction, SpendConflict, TransactionAnswer, TransactionLookup,
    UnsettledTransaction,
};
pub use history::{ChainedLog, HashLink, HashedFields, HashedValue, LogHead};
pub use invoice::draft::SimulatedAmount;
pub use invoice::{Invoice, InvoiceCoin};
pub use language::Language;
pub use ledger::{Balance, LedgerEntry, LedgerKind, Posting, RefType};
pub use link::{LinkState, LinkUses, PaymentLink};
pub use mail::alarm::{AlarmCondition, AlarmKind, AlarmNews, AlarmState};
pub use mail::attempt::{MailOutcome, MailProgress};
pub use mail::messages::{AlarmFacts, DaySales, InvoiceFacts};
pub use mail::receipt::ReceiptFacts;
pub use mail::{MailKind, MailPreferences, MailState, MailSubscriber, MailText, SalesMail};
pub use money::coin::{Rate, Units};
pub use money::{Bps, Cents, Currency, Overflow, Total};
pub use network_fee::{FeeEstimate, FeeRates, FixedFee, NodeFees};
pub use observation::{
    Block, InputSource, Observation, ObservationKey, OwnTransfer, StoredObservation,
};
pub use observation_owner::{IntakeOutcome, ObservationChange, ObservationOwner, OwnedOutput};
pub use payment::inputs::SandboxPaymentStep;
pub use payment::{Payment, PaymentState};
pub use picture::{Picture, PictureFormat, PictureInfo};
pub use progress::{Progress, ProgressSink};
pub use quote::Quote;
pub use rate::{
    CoinFigure, CoinMarket, Evidence, FigureSource, NoRateReason, RateFigure, RateQuote,
    RateSource, SourceState, Ticker,
};
pub use refusal::{Refusal, RefusalCode};
pub use resource_change::{ResourceChange, ResourceKind};
pub use sales::{HourOfSales, SalesPeriod};
pub use scanned::LaggingChains;
pub use second_factor::{EnteredCode, TotpSecret};
pub use server::OrderedServer;
pub use server::order::{ServerLimits, ServerOrder, ServerType};
pub use server::outcome::ProvisionerResult;
pub use server::state::{
    CommandState, OperatorStep, ProvisionerTask, ServerState, ServerStatus, ServerStep,
};
pub use set_aside::{SetAside, SetAsideKind};
pub use status::{InvoiceStatus, InvoiceTerms, PaymentFacts};
pub use time::Time;
pub use timeline::{InvoiceChange, InvoiceHistory, InvoiceStep};
pub use transfer::act::{TransferAct, TransferActKind};
pub use transfer::approval::{Approval, ApprovalProposal, FeeSource, ProposedFee, TermsSource};
pub use transfer::basis::{RateBasis, ReceivedCoins};
pub use transfer::destination::checks::EntryProblem;
pub use transfer::destination::facts::{
    DestinationFacts, DestinationOutput, DestinationTransfer, ReviewRecord,
};
pub use transfer::destination::{DestinationOutcome, ReviewFinding, TransferOutcome};
pub use transfer::inputs::PayoutAmount;
pub use transfer::on_chain::{
    AttachedState, AttachedTransaction, OnChainState, ProposedOutput, ReviewDecision, ReviewKind,
    TransferReview,
};
pub use transfer::outgoing::{SendingHold, TransferSituation, TransferVerdict};
pub use transfer::request::TransferStepRequest;
pub use transfer::sender::{Sender, SenderConditions, SentBy};
pub use transfer::step::{Settlement, SimulatedChainState, TransferAction, TransferStep};
pub use transfer::terms::TransferTerms;
pub use transfer::{
    SendingProgress, SendingState, SettledBy, Transfer, TransferKind, TransferStatus, TxidSource,
};
pub use unmatched::{UnmatchedPayment, UnmatchedReason, UnmatchedResolution};
pub use url::{Authority, Host, SiteOrAppUrl, SiteUrl, UrlProblem};
pub use user::{Role, User};
pub use wallet::{
    ExtendedKey, IndexGaps, ReceivingBranch, ScriptType, Wallet, WalletAddress, WalletHints,
    WalletIndexes, WalletNetwork, WalletSecret,
};
