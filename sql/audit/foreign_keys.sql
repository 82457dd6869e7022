-- rule 5: every reference leads somewhere
select format('row %s of %s', ifnull(k.rowid, 'without a number'), k."table"), 'a reference to a row that is not there',
  format('a row of %s', k.parent)
from pragma_foreign_key_check k
