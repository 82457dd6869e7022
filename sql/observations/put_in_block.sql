update observations set block_height = :height, block_hash = :hash where seq = :seq
