-- A transaction's id is kept in one way, whatever way it is written: 32 bytes in hexadecimal in small letters, with 0x on
-- EVM chains only; on Solana, and where it is something else, as it is. Ids that were chosen by hand in a sandbox are
-- brought to it. Where two ids are the same then, their payments stand in one transaction; a position that is taken there
-- is given up for the next free one behind all others. Nothing is booked anew: what was seen stays what it came to.
create table moved_observations (
  seq          integer primary key,
  mode         text    not null,
  chain        text    not null,
  was_txid     text    not null,
  was_position integer not null,
  txid         text    not null,
  position     integer not null
) strict;
insert into moved_observations (seq, mode, chain, was_txid, was_position, txid, position)
with digits as (
  select seq, mode, chain, txid, position, iif(lower(substr(txid, 1, 2)) = '0x', substr(txid, 3), txid) as digits
  from observations
), kept as (
  select seq, mode, chain, txid, position,
    case
      when length(digits) <> 64 or digits glob '*[^0-9a-fA-F]*' then txid
      when chain in ('bitcoin', 'litecoin', 'dogecoin', 'tron') then lower(digits)
      when chain in ('ethereum', 'base', 'polygon') then '0x' || lower(digits)
      else txid
    end as kept
  from digits
), placed as (
  -- what stands there already stays; of the others, the oldest
  select seq, mode, chain, txid, position, kept, max(position) over (partition by mode, chain, kept) as last,
    row_number() over (partition by mode, chain, kept, position order by kept <> txid, seq) > 1 as gives_way
  from kept
)
select seq, mode, chain, txid, position, kept,
  iif(gives_way, last + row_number() over (partition by mode, chain, kept, gives_way order by seq), position)
from placed where kept <> txid;

update observations set txid = m.txid, position = m.position from moved_observations m where m.seq = observations.seq;

-- an output that was spent is named by its id, too
update observations set spends = (
  select json_group_array(json(case s.type
      when 'array' then ifnull((select json_array(m.txid, m.position) from moved_observations m
        where m.mode = observations.mode and m.chain = observations.chain and m.was_txid = json_extract(s.value, '$[0]')
          and m.was_position = json_extract(s.value, '$[1]')), s.value)
      when 'null' then 'null'
      else json_quote(s.value)
    end) order by s.key)
  from json_each(observations.spends) s)
where spends is not null and exists (select 1 from moved_observations);
drop table moved_observations;
