-- Recency, frequency, T and monetary value as Fader, Hardie and Lee (2005) define them over CDNOW:
-- a customer's purchases of one day are one transaction, and the first one is not a repeat.
WITH days AS (
    SELECT customer_id, purchase_date, sum(amount_cents) AS cents
    FROM purchases
    GROUP BY customer_id, purchase_date
),
spans AS (
    SELECT customer_id, min(purchase_date) AS first_day, max(purchase_date) AS last_day
    FROM days
    GROUP BY customer_id
),
repeats AS (
    SELECT
        spans.customer_id,
        spans.first_day,
        spans.last_day,
        count(*) - 1 AS frequency,
        sum(CASE WHEN days.purchase_date > spans.first_day THEN days.cents ELSE 0 END) AS repeat_cents
    FROM spans
    JOIN days ON days.customer_id = spans.customer_id
    GROUP BY spans.customer_id, spans.first_day, spans.last_day
)
SELECT
    customer_id,
    frequency,
    (CAST(last_day AS INT) - CAST(first_day AS INT)) / 7.0 AS recency_weeks,
    -- the last day that lies before as-of
    (CAST(CAST($as_of - INTERVAL '1 microsecond' AS DATE) AS INT) - CAST(first_day AS INT)) / 7.0 AS t_weeks,
    CASE WHEN frequency > 0 THEN repeat_cents / 100.0 / frequency ELSE 0.0 END AS monetary_value
FROM repeats
