delete from sessions where user = :user
