SELECT
    customer_id,
    max(cents) AS best,
    (to_unixtime($as_of) - to_unixtime(max(at))) / 86400.0 AS days
FROM purchases
GROUP BY customer_id
