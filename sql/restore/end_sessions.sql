delete from sessions
