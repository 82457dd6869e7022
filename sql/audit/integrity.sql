-- rule 6: the file is whole
select 'the file', c.integrity_check, 'whole' from pragma_integrity_check c where c.integrity_check <> 'ok'
