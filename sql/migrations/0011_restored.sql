-- How often a server went on from an older copy: a wallet that such a file does not know may have handed out before.
alter table file add column restored integer not null default 0 check (restored >= 0);
