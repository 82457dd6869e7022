-- of a payment: the larger of the price and of all that is unconfirmed for its invoice; of a deposit: all that is
-- unconfirmed for its customer
select o.seq as seq, o.txid as txid, o.position as position, o.block_height as height, coalesce(
  (select max(i.amount, (select sum(other.value) from payments other join observations seen on seen.seq = other.observation
      where other.invoice = i.seq and seen.state = 'seen'))
    from payments p join invoices i on i.seq = p.invoice where p.observation = o.seq),
  (select sum(other.gross) from deposits d join deposits other on other.customer = d.customer
      join observations seen on seen.seq = other.observation
    where d.observation = o.seq and seen.state = 'seen')) as at_stake
from observations o
where o.mode = 'live' and o.chain = :chain and o.state = 'seen' and o.block_height <= :height and o.seq > :after
order by o.seq
