-- The steps of 30 seconds whose codes were used, of every second factor that is on: no code is taken twice, whatever the
-- clock of the machine has shown in between. The newest one alone does not tell: where it was used while the clock was
-- ahead, every code is older once the clock is right.
create table used_steps (
  user integer not null references users (seq),
  step integer not null check (step >= 0),
  primary key (user, step)
) strict, without rowid;
insert into used_steps select seq, second_factor_step from users where second_factor_step is not null;
alter table users drop column second_factor_step;
