-- What a host's role gets: it reads, and changes items through functions alone. ROLE stands for the role's quoted name.

grant usage on schema cubby to ROLE;
grant select on all tables in schema cubby to ROLE;
grant execute on all functions in schema cubby to ROLE;
