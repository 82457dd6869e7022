-- What an attempt was signed with, as it was sent: the value of X-Service-Signature, a space, and that of
-- webhook-signature; and the format of its body. A secret that was rolled is forgotten and a format can be changed, so
-- neither can be made again; nothing for earlier attempts, and for those that were not made.
alter table attempts add column signatures text check (signatures like 't=% v1,%');
alter table attempts add column format text
  check ((format is null) = (signatures is null) and format in ('event', 'legacy'));
