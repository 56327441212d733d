//! How deep a SQL text may build its tree: every operator of a chain (`a + b + c`) is one level, and each level is a call
//! of its own wherever the tree is walked, by the parser as by the engine.

use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::keywords::Keyword;
use datafusion_sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::sql::{Fault, range_of};

/// Operators in one chain, those of the parentheses around it included.
const LONGEST: usize = 300;

/// The fault of the first chain that is too long. A text that has no tokens is left to the parser to refuse.
pub(crate) fn too_long(text: &str) -> Option<Fault> {
    let mut tokenizer = Tokenizer::new(&GenericDialect {}, text);
    let tokens = tokenizer.tokenize_with_location().ok()?;
    let place = place_of_longer(&tokens)?;
    let message = format!("more than {LONGEST} operators in one chain");
    let help = "write `IN (...)` for many alternatives, or compute in steps (`WITH ... AS`, or features of their own)";
    Some(Fault::new(message, range_of(text, place.span), help))
}

fn place_of_longer(tokens: &[TokenWithSpan]) -> Option<&TokenWithSpan> {
    // Operators since the last comma, for each pair of parentheses that is open.
    let mut open = vec![0_usize];
    let mut in_all = 0;
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket => open.push(0),
            Token::RParen | Token::RBracket if open.len() > 1 => {
                in_all -= open.pop().unwrap_or(0);
            }
            part if ends_chain(part) => in_all -= open.last_mut().map_or(0, std::mem::take),
            part if is_operator(part) => {
                in_all += 1;
                if let Some(chain) = open.last_mut() {
                    *chain += 1;
                }
                if in_all > LONGEST {
                    return Some(token);
                }
            }
            _ => {}
        }
    }
    None
}

fn ends_chain(token: &Token) -> bool {
    match token {
        Token::Comma | Token::SemiColon => true,
        Token::Word(word) => matches!(word.keyword, Keyword::WHEN | Keyword::THEN | Keyword::ELSE),
        _ => false,
    }
}

/// All that may build on what stands to its left: punctuation but commas, dots and parentheses, and words.
fn is_operator(token: &Token) -> bool {
    match token {
        Token::Word(word) => matches!(
            word.keyword,
            Keyword::AND
                | Keyword::OR
                | Keyword::NOT
                | Keyword::IS
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::BETWEEN
                | Keyword::JOIN
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT
                | Keyword::AT
        ),
        Token::Whitespace(_)
        | Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::Placeholder(_)
        | Token::Period
        | Token::EOF => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(operators: usize) -> String {
        format!("SELECT a{} FROM t", " + 1".repeat(operators))
    }

    #[test]
    fn chains_are_counted_across_parentheses_and_end_at_commas() {
        assert_eq!(too_long(&chain(LONGEST)), None);
        let fault = too_long(&chain(LONGEST + 1)).expect("too long");
        assert_eq!(fault.message, "more than 300 operators in one chain");
        let at = fault.range.expect("a place").start;
        assert_eq!(at, "SELECT a".len() + LONGEST * " + 1".len() + 1);

        let nested = format!(
            "{}1{}",
            "(1 + ".repeat(LONGEST + 1),
            ")".repeat(LONGEST + 1)
        );
        assert!(too_long(&nested).is_some());
        let wide = vec!["a + b * c"; LONGEST].join(", ");
        assert_eq!(
            too_long(&format!("SELECT {wide} FROM t WHERE f({wide})")),
            None
        );
        let cases = "WHEN a = 1 THEN 2 ".repeat(LONGEST);
        assert_eq!(too_long(&format!("CASE {cases} ELSE 0 END")), None);
        assert!(too_long(&"a OR ".repeat(100_000)).is_some());
        assert!(too_long(&"SELECT 1 UNION ALL ".repeat(LONGEST + 1)).is_some());
    }
}
