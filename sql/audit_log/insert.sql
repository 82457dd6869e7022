insert into audit_log (at, actor, action, account, object_id, detail)
values (:at, :actor, :action, :account, :object_id, :detail)
