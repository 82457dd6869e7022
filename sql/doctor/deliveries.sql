select format('%d webhooks have been due for more than an hour', count(*)) as about,
  'is `coffer serve` running on this file? its log says what holds it up' as mend
from deliveries where state = 'pending' and next_attempt_at < :now - 3600000
having count(*) > 0
