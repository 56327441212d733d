-- `purchases` holds only what was known before as-of; `$as_of` is that instant.
SELECT
    customer_id,
    (to_unixtime($as_of) - to_unixtime(max(purchased_at))) / 86400.0 AS days_since_last_order,
    max(amount) AS largest_basket
FROM purchases
GROUP BY customer_id
