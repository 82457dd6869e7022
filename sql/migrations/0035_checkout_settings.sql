-- Coins that the checkout lists first: a JSON list of their ids, in order.
alter table accounts add column favorite_coins text not null default '[]' check (json_valid(favorite_coins));
-- Lines below the merchant's name on receipts: a JSON list of texts, for example an address.
alter table accounts add column address_lines text not null default '[]' check (json_valid(address_lines));
