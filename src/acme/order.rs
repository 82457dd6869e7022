//! One order of a certificate: account, challenges, certificate.

use super::challenge::ActiveChallenge;
use super::client::{AuthorityClient, plain_text};
use super::folder::Folder;
use super::reach::Reach;
use super::{AcmeSettings, Certificates, IssuedCertificate};
use crate::domain::Time;
use crate::domain::certificate::time_in_window;
use crate::domain::time::SECOND_MS;
use instant_acme::{
    Account, AuthorizationHandle, AuthorizationStatus, CertificateIdentifier, ChallengeType, Error,
    Identifier, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rustls::pki_types::Der;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for a decision of the authority.
const DECISION_MAX: Duration = Duration::from_secs(90);

/// Problem of an authority that does not know the account, for example after it lost its data.
const UNKNOWN_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// The certificate of an order, or a message for the operator.
pub type OrderOutcome = Result<IssuedCertificate, String>;

/// Orders a certificate and stores it in the folder. `replaced` is the certificate that the new certificate replaces.
///
/// # Errors
/// A message for the operator.
pub async fn order_certificate(
    settings: &AcmeSettings,
    folder: &Folder,
    certificates: &Arc<Certificates>,
    reach: Reach,
    replaced: Option<&IssuedCertificate>,
) -> OrderOutcome {
    let account = open_account(settings, folder).await?;
    let names = [Identifier::Dns(settings.domain.clone())];
    let order = NewOrder::new(&names);
    let order = match replaced.and_then(certificate_identifier) {
        Some(identifier) => order.replaces(identifier),
        None => order,
    };
    let mut order = match account.new_order(&order).await {
        Err(Error::Api(problem)) if problem.r#type.as_deref() == Some(UNKNOWN_ACCOUNT) => {
            folder.remove_account()?;
            return Err(describe(&Error::Api(problem)));
        }
        order => order.map_err(|error| describe(&error))?,
    };
    let _answers = answer_challenges(&mut order, certificates, reach).await?;
    let policy = RetryPolicy::new().timeout(DECISION_MAX);
    let status = order.poll_ready(&policy).await.map_err(|error| describe(&error))?;
    if status == OrderStatus::Invalid {
        return Err(read_refusal(&mut order).await);
    }
    let key = order.finalize().await.map_err(|error| describe(&error))?;
    let chain = order.poll_certificate(&policy).await.map_err(|error| describe(&error))?;
    let issued = IssuedCertificate::from_pem(&settings.domain, &chain, &key)?;
    folder.store_certificate(&chain, &key)?;
    Ok(issued)
}

/// Asks the authority when it suggests to renew a certificate (RFC 9773). Returns the time, if the authority suggests
/// one, and the wait before the next question, in milliseconds.
///
/// # Errors
/// A message for the log.
pub async fn suggested_renewal(
    settings: &AcmeSettings,
    folder: &Folder,
    issued: &IssuedCertificate,
) -> Result<(Time, i64), String> {
    let identifier = certificate_identifier(issued).ok_or("the certificate names no authority")?;
    let account = open_account(settings, folder).await?;
    let asked = account.renewal_info(&identifier).await;
    let (info, wait) = asked.map_err(|error| describe(&error))?;
    let window = info.suggested_window;
    let time =
        |at: time::OffsetDateTime| Time(0).plus_ms(at.unix_timestamp().saturating_mul(SECOND_MS));
    let at = time_in_window(time(window.start), time(window.end), &issued.fields.serial);
    Ok((at, i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
}

/// Opens the stored account, or creates one.
async fn open_account(settings: &AcmeSettings, folder: &Folder) -> Result<Account, String> {
    let client =
        Box::new(AuthorityClient::new(&settings.directory, settings.directory_roots.as_deref())?);
    let builder = Account::builder_with_http(client);
    if let Some(credentials) = folder.account()? {
        return builder.from_credentials(credentials).await.map_err(|error| describe(&error));
    }
    let new = NewAccount {
        contact: &[],
        terms_of_service_agreed: settings.terms_agreed,
        only_return_existing: false,
    };
    let created = builder.create(&new, settings.directory.clone(), None).await;
    let (account, credentials) = created.map_err(|error| describe(&error))?;
    folder.store_account(&credentials)?;
    Ok(account)
}

fn certificate_identifier(issued: &IssuedCertificate) -> Option<CertificateIdentifier<'static>> {
    let authority = issued.fields.authority_key.as_ref()?;
    let (authority, serial) = (Der::from_slice(authority), Der::from_slice(&issued.fields.serial));
    Some(CertificateIdentifier::new(authority, serial).into_owned())
}

/// Starts to answer the challenges of an order, and tells the authority. The answers end when the result is dropped.
async fn answer_challenges(
    order: &mut Order,
    certificates: &Arc<Certificates>,
    reach: Reach,
) -> Result<Vec<ActiveChallenge>, String> {
    let mut answers = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(|error| describe(&error))?;
        match authorization.status {
            AuthorizationStatus::Pending => {}
            AuthorizationStatus::Valid => continue,
            _ => return Err(refusal_of(&authorization)),
        }
        let kind = match reach {
            Reach::Tls => ChallengeType::TlsAlpn01,
            Reach::Http => ChallengeType::Http01,
        };
        let mut challenge = authorization
            .challenge(kind)
            .ok_or_else(|| format!("the certificate authority offers no {}", reach.challenge()))?;
        let authorized = challenge.key_authorization();
        answers.push(match reach {
            Reach::Http => certificates.answer_http(&challenge.token, authorized.as_str()),
            Reach::Tls => {
                let digest: [u8; 32] = authorized
                    .digest()
                    .as_ref()
                    .try_into()
                    .map_err(|_| "the digest has another length".to_owned())?;
                certificates.answer_tls(&digest)?.0
            }
        });
        challenge.set_ready().await.map_err(|error| describe(&error))?;
    }
    Ok(answers)
}

/// Returns the reason why the authority refused an order.
async fn read_refusal(order: &mut Order) -> String {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        if authorization.refresh().await.is_ok()
            && authorization.status == AuthorizationStatus::Invalid
        {
            return refusal_of(&authorization);
        }
    }
    "the certificate authority refused the order".to_owned()
}

/// Returns the reason why the authority did not accept a challenge.
fn refusal_of(authorization: &AuthorizationHandle<'_>) -> String {
    let error = authorization.challenges.iter().find_map(|challenge| challenge.error.as_ref());
    let why = error.map_or(String::new(), |error| format!(": {error}"));
    plain_text(&format!("the certificate authority did not accept the challenge{why}"))
}

/// Returns a message without control characters.
fn describe(error: &Error) -> String {
    plain_text(&format!("the certificate authority: {error}"))
}
