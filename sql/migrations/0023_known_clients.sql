-- The clients by which each user has signed in, the newest eight of each: others who guess do not keep them out.
create table known_clients (
  seq    integer primary key,
  user   integer not null references users (seq),
  -- SHA-256 of the user, the password's hash, the second factor and the client's address
  client blob    not null unique check (length(client) = 32)
) strict;
create index known_clients_of_user on known_clients (user, seq);
