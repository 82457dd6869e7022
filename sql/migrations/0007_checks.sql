-- Where a CHECK compares with more than two constants in one list, SQLite builds a table of them in memory for each row
-- that is written; of two it compares with one after the other. So a longer list is written as several of two, in the
-- tables that every invoice and every payment writes to. What they accept stays the same, so no row has to be looked at
-- (<https://sqlite.org/lang_altertable.html>, the shorter procedure of section 7).
pragma writable_schema = on;

update sqlite_schema set sql = replace(replace(sql,
'status in (''created'', ''awaiting_payment'', ''detected'', ''confirmed'',
                    ''overpaid'', ''underpaid'', ''expired'', ''paid_late'', ''cancelled'', ''failed'')',
'status in (''created'', ''awaiting_payment'') or status in (''detected'', ''confirmed'')
    or status in (''overpaid'', ''underpaid'') or status in (''expired'', ''paid_late'') or status in (''cancelled'', ''failed'')'),
'status not in (''awaiting_payment'', ''detected'', ''confirmed'', ''overpaid'', ''underpaid'', ''paid_late'')',
'status in (''created'', ''expired'') or status in (''cancelled'', ''failed'')')
where type = 'table' and name = 'invoices';

update sqlite_schema set sql = replace(sql,
'status in (''created'', ''awaiting_payment'', ''detected'', ''confirmed'', ''overpaid'',
            ''underpaid'', ''expired'', ''paid_late'', ''cancelled'', ''failed'')',
'status in (''created'', ''awaiting_payment'') or status in (''detected'', ''confirmed'')
    or status in (''overpaid'', ''underpaid'') or status in (''expired'', ''paid_late'') or status in (''cancelled'', ''failed'')')
where type = 'table' and name = 'invoice_steps';

update sqlite_schema set sql = replace(sql,
'state in (''seen'', ''confirmed'', ''dropped'')',
'state in (''seen'', ''confirmed'') or state = ''dropped''')
where type = 'table' and name in ('observations', 'invoice_steps');

update sqlite_schema set sql = replace(sql,
'state in (''pending'', ''delivered'', ''failed'')',
'state in (''pending'', ''delivered'') or state = ''failed''')
where type = 'table' and name = 'deliveries';

update sqlite_schema set sql = replace(replace(replace(replace(sql,
'kind in (''sale'', ''fee'', ''payout'', ''payout_reversal'', ''refund'',
               ''refund_reversal'', ''adjustment'')',
'kind in (''sale'', ''fee'') or kind in (''payout'', ''payout_reversal'')
    or kind in (''refund'', ''refund_reversal'') or kind = ''adjustment'''),
'ref_type in (''invoice'', ''deposit'', ''payout'', ''refund'', ''admin'')',
'ref_type in (''invoice'', ''deposit'') or ref_type in (''payout'', ''refund'') or ref_type = ''admin'''),
'kind not in (''sale'', ''payout_reversal'', ''refund_reversal'')',
'kind in (''fee'', ''payout'') or kind in (''refund'', ''adjustment'')'),
'kind not in (''fee'', ''payout'', ''refund'')',
'kind in (''sale'', ''payout_reversal'') or kind in (''refund_reversal'', ''adjustment'')')
where type = 'table' and name = 'ledger';

update sqlite_schema set sql = replace(sql,
'network in (''simulated'', ''main'', ''test'')',
'network in (''simulated'', ''main'') or network = ''test''')
where type = 'table' and name = 'wallets';

pragma writable_schema = reset;
