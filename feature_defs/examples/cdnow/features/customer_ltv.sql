-- Lifetime value so far, and expected over the next 39 weeks.
--
--   expected value = P(alive) x purchase rate x 39 weeks x expected spend of a purchase day
--
--   P(alive)       BG/NBD: Fader, Hardie and Lee, "Counting Your Customers the Easy Way", Marketing Science 24 (2005),
--                  with their estimates for CDNOW: r = 0.243, alpha = 4.414, a = 0.793, b = 2.426
--   purchase rate  (r + x) / (alpha + T): the mean rate of a living customer in the same model
--   spend          Gamma-Gamma: Fader and Hardie, "The Gamma-Gamma Model of Monetary Value" (2013), with their
--                  estimates for CDNOW: p = 6.25, q = 3.74, gamma = 15.44
--
-- It leaves out that a living customer may leave within the 39 weeks (the exact expectation needs the Gaussian
-- hypergeometric function, which SQL has not), so it is an upper bound; and margin and discounting.
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
history AS (
    SELECT
        spans.customer_id,
        CAST(count(*) - 1 AS DOUBLE) AS x,
        (CAST(spans.last_day AS INT) - CAST(spans.first_day AS INT)) / 7.0 AS t_x,
        (CAST(CAST($as_of - INTERVAL '1 microsecond' AS DATE) AS INT) - CAST(spans.first_day AS INT)) / 7.0 AS t,
        sum(days.cents) / 100.0 AS spend,
        sum(CASE WHEN days.purchase_date > spans.first_day THEN days.cents ELSE 0 END) / 100.0 AS repeat_spend
    FROM spans
    JOIN days ON days.customer_id = spans.customer_id
    GROUP BY spans.customer_id, spans.first_day, spans.last_day
),
expectations AS (
    SELECT
        customer_id,
        spend,
        CASE
            WHEN x = 0 THEN 1.0
            ELSE 1.0 / (1.0 + 0.793 / (2.426 + x - 1.0) * power((4.414 + t) / (4.414 + t_x), 0.243 + x))
        END AS p_alive,
        (0.243 + x) / (4.414 + t) * 39.0 AS orders_if_alive,
        6.25 * (15.44 + repeat_spend) / (6.25 * x + 3.74 - 1.0) AS spend_per_day
    FROM history
)
SELECT
    customer_id,
    spend AS ltv_to_date,
    p_alive,
    p_alive * orders_if_alive AS orders_39w,
    p_alive * orders_if_alive * spend_per_day AS ltv_39w
FROM expectations
